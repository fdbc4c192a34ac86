// Kernel settings under /proc/sys, of the calling thread's network namespace or of another one.
import { readFileSync, writeFileSync } from 'node:fs';
import { PointsmanError } from '../base/errors.ts';
import { inNetns } from './netns.ts';
import type { Sys } from './sys/sys.ts';

/** Where a sysctl is meant: without a namespace in the calling thread's own. */
export interface SysctlPlace {
  readonly sys: Sys;
  /** Path of a network namespace. */
  readonly namespace: string;
}

/** `net.ipv4.ip_forward` or `net/ipv4/ip_forward`, as sysctl(8) takes either; the latter for names with dots in them. */
const pathOf = (name: string): string => `/proc/sys/${name.includes('/') ? name : name.replaceAll('.', '/')}`;

/** The value, without the line's end. Throws E_KERNEL_FEATURE when the kernel has no such setting. */
export function readSysctl(name: string, place?: SysctlPlace): string {
  return at(place, () => {
    try {
      return readFileSync(pathOf(name), 'utf8').trimEnd();
    } catch (cause) {
      throw failure(`read the sysctl ${name}`, name, cause);
    }
  });
}

/** Throws E_KERNEL_FEATURE when there is no such setting, E_PERMISSION, or E_SYSCALL when the value is refused. */
export function writeSysctl(name: string, value: string | number, place?: SysctlPlace): void {
  at(place, () => {
    try {
      writeFileSync(pathOf(name), String(value));
    } catch (cause) {
      throw failure(`set the sysctl ${name} to ${value}`, name, cause);
    }
    return '';
  });
}

/** /proc/sys shows the namespace of the thread that opens a file, so the work is synchronous. */
function at(place: SysctlPlace | undefined, work: () => string): string {
  return place === undefined ? work() : inNetns<string>(place.sys, place.namespace, work);
}

function failure(what: string, name: string, cause: unknown): PointsmanError {
  const code = cause instanceof Error && 'code' in cause ? String(cause.code) : 'unknown';
  const facts = { sysctl: name, errno: code };
  if (code === 'ENOENT') {
    return new PointsmanError('E_KERNEL_FEATURE', `cannot ${what}: the kernel has no such setting`, {
      hint: 'load the module that brings it, such as nf_conntrack',
      facts,
      cause,
    });
  }
  if (code === 'EACCES' || code === 'EPERM' || code === 'EROFS') {
    return new PointsmanError('E_PERMISSION', `cannot ${what}: ${code}`, {
      hint: 'run as root, with /proc/sys writable',
      facts,
      cause,
    });
  }
  return new PointsmanError('E_SYSCALL', `cannot ${what}: ${code}`, {
    hint: 'check the value',
    facts,
    cause,
  });
}
