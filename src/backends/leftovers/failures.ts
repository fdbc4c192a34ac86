// Errors of the parts of a clean-up, none of which stops the others.
import { PointsmanError } from '../../base/errors.ts';
import { EINVAL } from '../../kernel/sys/errno.ts';

/** Any error as the one class, for a report. */
export function asPointsmanError(error: unknown): PointsmanError {
  if (error instanceof PointsmanError) return error;
  const message = error instanceof Error ? error.message : String(error);
  return new PointsmanError('E_SYSCALL', message, { cause: error });
}

/** Whether the kernel lacks the netfilter subsystem that was asked: nfnetlink says so by EINVAL. */
export function isAbsent(error: unknown): boolean {
  return (
    error instanceof PointsmanError && (error.code === 'E_KERNEL_FEATURE' || error.facts.errno === EINVAL)
  );
}
