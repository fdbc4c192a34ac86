// Removes the nftables tables of kube-proxy and of Pointsman, over netlink.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../../kernel/direct.ts';
import { describeFailure } from '../../kernel/netlink/error.ts';
import type { TableRef } from '../../kernel/nft/commands.ts';
import { tablesIn, tablesRequest } from '../../kernel/nft/tables.ts';
import { encodeTransaction } from '../../kernel/nft/transaction.ts';
import { TABLE_NAME } from '../nftables/ruleset.ts';
import { asPointsmanError, isAbsent } from './failures.ts';
import type { ReportInWork } from './report.ts';

/** Of upstream (behaviour spec 4.2). */
const KUBE_PROXY_TABLE = 'kube-proxy';

/** `own`: Pointsman's tables too. Each table with all that is in it is one transaction. */
export function removeNftLeftovers(
  kernel: Pick<DirectKernel, 'dump' | 'transact'>,
  own: boolean,
  report: ReportInWork,
): void {
  for (const ref of tables(kernel, own, report)) {
    const what = `nftables table ${ref.family} ${ref.table}`;
    try {
      removeTable(kernel, ref);
      report.removed.push(what);
    } catch (error) {
      report.failures.push({ what: `remove ${what}`, error: asPointsmanError(error) });
    }
  }
}

function tables(kernel: Pick<DirectKernel, 'dump'>, own: boolean, report: ReportInWork): readonly TableRef[] {
  const names = [KUBE_PROXY_TABLE, ...(own ? [TABLE_NAME] : [])];
  try {
    return [...tablesIn(kernel.dump('netfilter', tablesRequest()))].filter(
      ({ family, table }) => family !== 'inet' && names.includes(table),
    );
  } catch (error) {
    if (!isAbsent(error))
      report.failures.push({ what: 'list the tables of nftables', error: asPointsmanError(error) });
    return [];
  }
}

function removeTable(kernel: Pick<DirectKernel, 'transact'>, ref: TableRef): void {
  const outcome = kernel.transact(encodeTransaction([{ op: 'delete-table', ...ref }]).bytes);
  if (outcome.kind === 'committed') return;
  const because =
    outcome.kind === 'unknown' ? outcome.because : outcome.failures.map(describeFailure).join('; ');
  throw new PointsmanError('E_NETLINK', `the kernel did not delete the table: ${because}`, {
    hint: 'try again, and see who else changes the ruleset with: nft monitor',
  });
}
