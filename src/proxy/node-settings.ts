// The node's settings of connection tracking, read and written where they are: /proc/sys and /sys.
import { readFileSync, writeFileSync } from 'node:fs';
import { readSysctl, writeSysctl } from '../kernel/sysctl.ts';
import type { SettingsAccess } from './conntrack-settings.ts';

/** Of the process's own network namespace. */
export const nodeSettings: SettingsAccess = {
  read: (name) => readSysctl(name),
  write: (name, value) => writeSysctl(name, value),
  readFile(path) {
    try {
      return readFileSync(path, 'utf8');
    } catch {
      return undefined;
    }
  },
  writeFile: (path, value) => writeFileSync(path, String(value)),
};
