// What is published about the objects of Kubernetes, the Prometheus operator and Grafana: schemas to check values with
// while the test runs, and types, which know which fields there are (tools/published-schemas).
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { load } from '../../tools/published-schemas/load.ts';
import { type Manifest, ROOT } from './chart.ts';

const FOLDER = `${ROOT}tools/published-schemas`;

/** The module that holds a kind: `kubernetes-models/apps/v1/DaemonSet`. */
export function moduleOf({ apiVersion, kind }: Manifest): string {
  const family = apiVersion.startsWith('monitoring.coreos.com/')
    ? '@kubernetes-models/prometheus-operator'
    : 'kubernetes-models';
  return `${family}/${apiVersion}/${kind}`;
}

/** Throws, naming field and rule, when the object is not as its schema says. */
export async function validate(manifest: Manifest): Promise<void> {
  const module = await load(moduleOf(manifest));
  const Model = (module as Record<string, new (data: Manifest) => { validate(): void }>)[manifest.kind];
  if (Model === undefined) throw new Error(`no model of ${manifest.kind}`);
  new Model(manifest).validate();
}

export interface TypeCheck {
  /** What the value is, for the error: an identifier. */
  readonly name: string;
  /** A TypeScript type, of what `imports` brings. */
  readonly type: string;
  readonly value: unknown;
}

/** Literals where the declarations want members of an enum, else the type as it is. */
const PLAIN = [
  // biome-ignore lint/suspicious/noTemplateCurlyInString: a template of the type
  'type Plain<T> = T extends string ? `${T}` : T extends readonly (infer U)[] ? Plain<U>[]',
  '  : T extends object ? { [K in keyof T]: Plain<T[K]> } : T;',
];

/** What the compiler says about each value that is not of its type, or has a field that does not exist. */
export async function typeErrors(
  imports: readonly string[],
  checks: readonly TypeCheck[],
): Promise<ReadonlyMap<string, string>> {
  const folder = mkdtempSync(join(tmpdir(), 'pointsman-published-'));
  try {
    symlinkSync(`${FOLDER}/node_modules`, join(folder, 'node_modules'));
    writeFileSync(join(folder, 'package.json'), '{"type": "module"}');
    const lines = [...imports, ...PLAIN];
    const valuesFrom = lines.length + 1;
    // One line each, so that an error's line tells whose it is.
    for (const { name, type, value } of checks)
      lines.push(`export const ${name}: Plain<${type}> = ${JSON.stringify(value)};`);
    writeFileSync(join(folder, 'check.ts'), lines.join('\n'));
    const options = ['--noEmit', '--strict', '--skipLibCheck', '--module', 'nodenext', '--target', 'esnext'];
    const { stdout } = await promisify(execFile)(
      `${ROOT}node_modules/.bin/tsc`,
      [...options, '--types', '', join(folder, 'check.ts')],
      { cwd: folder },
    ).catch((error: { readonly stdout: string }) => error);
    const errors = new Map<string, string>();
    for (const [text, line] of stdout.matchAll(/^\S+\((\d+),\d+\): error .*$/gm)) {
      const name = checks[Number(line) - valuesFrom]?.name ?? 'imports';
      errors.set(name, [errors.get(name) ?? [], text].flat().join('\n'));
    }
    return errors;
  } finally {
    rmSync(folder, { recursive: true });
  }
}
