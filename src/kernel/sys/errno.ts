// Error numbers of Linux (asm-generic/errno.h, the same on every architecture that we run on) and errors made of them.
import { getSystemErrorMessage } from 'node:util';
import { type ErrorCode, type Facts, PointsmanError } from '../../base/errors.ts';

/** The names by number, ten a line. */
const NAMES = `
  - EPERM ENOENT ESRCH EINTR EIO ENXIO E2BIG ENOEXEC EBADF
  ECHILD EAGAIN ENOMEM EACCES EFAULT ENOTBLK EBUSY EEXIST EXDEV ENODEV
  ENOTDIR EISDIR EINVAL ENFILE EMFILE ENOTTY ETXTBSY EFBIG ENOSPC ESPIPE
  EROFS EMLINK EPIPE EDOM ERANGE EDEADLK ENAMETOOLONG ENOLCK ENOSYS ENOTEMPTY
  ELOOP - ENOMSG EIDRM ECHRNG EL2NSYNC EL3HLT EL3RST ELNRNG EUNATCH
  ENOCSI EL2HLT EBADE EBADR EXFULL ENOANO EBADRQC EBADSLT - EBFONT
  ENOSTR ENODATA ETIME ENOSR ENONET ENOPKG EREMOTE ENOLINK EADV ESRMNT
  ECOMM EPROTO EMULTIHOP EDOTDOT EBADMSG EOVERFLOW ENOTUNIQ EBADFD EREMCHG ELIBACC
  ELIBBAD ELIBSCN ELIBMAX ELIBEXEC EILSEQ ERESTART ESTRPIPE EUSERS ENOTSOCK EDESTADDRREQ
  EMSGSIZE EPROTOTYPE ENOPROTOOPT EPROTONOSUPPORT ESOCKTNOSUPPORT EOPNOTSUPP EPFNOSUPPORT EAFNOSUPPORT EADDRINUSE EADDRNOTAVAIL
  ENETDOWN ENETUNREACH ENETRESET ECONNABORTED ECONNRESET ENOBUFS EISCONN ENOTCONN ESHUTDOWN ETOOMANYREFS
  ETIMEDOUT ECONNREFUSED EHOSTDOWN EHOSTUNREACH EALREADY EINPROGRESS ESTALE EUCLEAN ENOTNAM ENAVAIL
  EISNAM EREMOTEIO EDQUOT ENOMEDIUM EMEDIUMTYPE ECANCELED ENOKEY EKEYEXPIRED EKEYREVOKED EKEYREJECTED
  EOWNERDEAD ENOTRECOVERABLE ERFKILL EHWPOISON
`
  .trim()
  .split(/\s+/);

const number = (name: string): number => NAMES.indexOf(name);

export const EPERM: number = number('EPERM');
export const ENOENT: number = number('ENOENT');
export const ESRCH: number = number('ESRCH');
export const EINTR: number = number('EINTR');
export const EAGAIN: number = number('EAGAIN');
export const EACCES: number = number('EACCES');
export const EBUSY: number = number('EBUSY');
export const EEXIST: number = number('EEXIST');
export const ENODEV: number = number('ENODEV');
export const EINVAL: number = number('EINVAL');
export const ERESTART: number = number('ERESTART');
export const EMSGSIZE: number = number('EMSGSIZE');
export const EPROTONOSUPPORT: number = number('EPROTONOSUPPORT');
export const EOPNOTSUPP: number = number('EOPNOTSUPP');
export const ENOBUFS: number = number('ENOBUFS');
export const EINPROGRESS: number = number('EINPROGRESS');

/** The kernel's own ENOTSUPP, which user space headers do not have but nf_tables answers. */
const ENOTSUPP = 524;

/** The header's name of a positive errno, or `errno 1234`. */
export function errnoName(errno: number): string {
  if (errno === ENOTSUPP) return 'ENOTSUPP';
  const name = NAMES[errno];
  return name === undefined || name === '-' ? `errno ${errno}` : name;
}

/** `ENOENT (no such file or directory)`, or only the name where there is no text for it. */
export function errnoText(errno: number): string {
  const name = errnoName(errno);
  const text = getSystemErrorMessage(-errno);
  return text === undefined || text.startsWith('Unknown system error') ? name : `${name} (${text})`;
}

/**
 * The result of a system call, or an error: E_PERMISSION for EPERM and EACCES, else `code`. `operation` is what the
 * process wanted, as in `cannot ${operation}: …`.
 */
export function unwrap(
  result: number,
  operation: string,
  facts: Facts = {},
  code: ErrorCode = 'E_SYSCALL',
): number {
  if (result >= 0) return result;
  throw systemError(-result, operation, facts, code);
}

/** The error that `unwrap` throws. */
export function systemError(
  errno: number,
  operation: string,
  facts: Facts = {},
  code: ErrorCode = 'E_SYSCALL',
): PointsmanError {
  const refused = errno === EPERM || errno === EACCES;
  return new PointsmanError(refused ? 'E_PERMISSION' : code, `cannot ${operation}: ${errnoText(errno)}`, {
    facts: { ...facts, errno, errnoName: errnoName(errno) },
    ...(refused && {
      hint: 'run as root, or with the capabilities CAP_NET_ADMIN and, for namespaces, CAP_SYS_ADMIN',
    }),
  });
}
