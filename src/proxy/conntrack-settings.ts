// Limits and time-outs of connection tracking, set once at start (behaviour spec 5).
import { PointsmanError } from '../base/errors.ts';
import type { ConntrackConfig } from '../config/proxy-config.ts';

/** A sysctl and the value that it shall have. */
export interface Setting {
  readonly name: string;
  readonly value: number;
}

/** A machine with many cores needs no more than this for that alone. */
const HIGHEST_MAX = 1_048_576;
const CONNTRACK_MAX = 'net.netfilter.nf_conntrack_max';
/** Buckets of the table: the kernel wants a fourth as many as entries. */
export const HASH_SIZE = '/sys/module/nf_conntrack/parameters/hashsize';

/** The most entries that the table may hold; undefined: as it is. */
export function conntrackMax({ maxPerCore, min }: ConntrackConfig, cores: number): number | undefined {
  if (maxPerCore <= 0) return undefined;
  const scaled = maxPerCore * cores;
  if (scaled > HIGHEST_MAX) return HIGHEST_MAX;
  return Math.max(scaled, min);
}

/** Everything that is to be set. */
export function conntrackSettings(config: ConntrackConfig, cores: number): readonly Setting[] {
  const max = conntrackMax(config, cores);
  const times: readonly (readonly [string, number])[] = [
    ['net.netfilter.nf_conntrack_tcp_timeout_established', config.tcpEstablished],
    ['net.netfilter.nf_conntrack_tcp_timeout_close_wait', config.tcpCloseWait],
    ['net.netfilter.nf_conntrack_udp_timeout', config.udp],
    ['net.netfilter.nf_conntrack_udp_timeout_stream', config.udpStream],
  ];
  return [
    ...(max === undefined ? [] : [{ name: CONNTRACK_MAX, value: max }]),
    ...times.filter(([, value]) => value > 0).map(([name, value]) => ({ name, value })),
    ...(config.tcpBeLiberal ? [{ name: 'net.netfilter.nf_conntrack_tcp_be_liberal', value: 1 }] : []),
  ];
}

/** The kernel's settings, as this room reads and sets them. */
export interface SettingsAccess {
  read(name: string): string;
  write(name: string, value: number): void;
  /** A file under /sys; undefined when it is not there. */
  readFile(path: string): string | undefined;
  writeFile(path: string, value: number): void;
}

/** A setting that was changed. */
export interface Changed extends Setting {
  readonly before: string;
}

/**
 * Sets what differs, and tells what that was. Throws, as upstream ends, when one cannot be set; the hint says how to
 * leave it alone.
 */
export function applyConntrackSettings(
  config: ConntrackConfig,
  cores: number,
  access: SettingsAccess,
): readonly Changed[] {
  const changed: Changed[] = [];
  const set = (name: string, before: string | undefined, value: number, write: () => void): void => {
    try {
      write();
    } catch (cause) {
      throw new PointsmanError(
        'E_PERMISSION',
        `could not set conntrack parameters from kube-proxy configuration: ${name} is ${before ?? 'unknown'} and should be ${value}: ${
          cause instanceof Error ? cause.message : String(cause)
        }`,
        {
          hint: 'set it on the node, or set the flag to 0 to leave it alone',
          facts: { sysctl: name, value },
          cause,
        },
      );
    }
    changed.push({ name, value, before: before ?? '' });
  };
  for (const { name, value } of conntrackSettings(config, cores)) {
    const before = access.read(name);
    if (before !== String(value)) set(name, before, value, () => access.write(name, value));
  }
  const max = conntrackMax(config, cores);
  const buckets = max === undefined ? undefined : access.readFile(HASH_SIZE);
  if (max !== undefined && buckets !== undefined && Number(buckets) < max / 4) {
    const value = Math.floor(max / 4);
    set(HASH_SIZE, buckets.trim(), value, () => access.writeFile(HASH_SIZE, value));
  }
  return changed;
}

/** How full the table is; undefined where the kernel has no such table. */
export function conntrackFill({
  read,
}: Pick<SettingsAccess, 'read'>): { readonly entries: number; readonly limit: number } | undefined {
  try {
    return { entries: Number(read('net.netfilter.nf_conntrack_count')), limit: Number(read(CONNTRACK_MAX)) };
  } catch {
    return undefined;
  }
}
