// What descriptors this process holds, for leak checks.
import { readdirSync, readlinkSync } from 'node:fs';

/** The open descriptors with what they refer to, but not the one that reads the list. */
export function openDescriptors(): readonly string[] {
  const open: string[] = [];
  for (const fd of readdirSync('/proc/self/fd')) {
    try {
      open.push(`${fd} ${readlinkSync(`/proc/self/fd/${fd}`)}`);
    } catch {
      // The descriptor of the listing itself is closed by now.
    }
  }
  return open;
}
