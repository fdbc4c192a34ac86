// Sysctls that only a test has.
import type { SettingsAccess } from '../../src/proxy/conntrack-settings.ts';

export interface FakeSettings extends SettingsAccess {
  readonly values: Map<string, string>;
}

/** Every setting is what it was last set to, 0 before. */
export function fakeSettings(refuse: readonly string[] = []): FakeSettings {
  const values = new Map<string, string>();
  const write = (name: string, value: number): void => {
    if (refuse.includes(name)) throw new Error('EACCES');
    values.set(name, String(value));
  };
  return {
    values,
    read: (name) => values.get(name) ?? '0',
    write,
    readFile: (path) => values.get(path),
    writeFile: write,
  };
}
