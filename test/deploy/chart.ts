// The Helm chart, rendered by the real helm, and what its objects hold.
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseAllDocuments } from 'yaml';

export const ROOT: string = fileURLToPath(new URL('../../', import.meta.url));
export const CHART: string = `${ROOT}deploy/chart/pointsman`;

/** Sets of values that the chart ships for its own tests, by file. */
export const VALUES: readonly string[] = readdirSync(`${CHART}/ci`)
  .sort()
  .map((file) => `${CHART}/ci/${file}`);

export type Json = Readonly<Record<string, unknown>>;

export interface Manifest extends Json {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly namespace?: string };
}

export interface Run {
  readonly status: number | null;
  readonly out: string;
  readonly err: string;
}

export function runTool(tool: 'helm' | 'promtool' | 'manifests', ...args: readonly string[]): Run {
  const { status, stdout, stderr } = spawnSync('sh', [`${ROOT}tools/${tool}.sh`, ...args], {
    encoding: 'utf8',
  });
  return { status, out: stdout, err: stderr };
}

/** `helm template` with the arguments given, such as `--values FILE` or `--set NAME=VALUE`. */
export const template = (...args: readonly string[]): Run =>
  runTool('helm', 'template', 'pointsman', CHART, '--namespace', 'kube-system', ...args);

const rendered = new Map<string, readonly Manifest[]>();

/** The objects that `template` prints; each set of arguments is rendered once. */
export function render(...args: readonly string[]): readonly Manifest[] {
  const key = args.join('\n');
  const known = rendered.get(key);
  if (known !== undefined) return known;
  const { status, out, err } = template(...args);
  assert.equal(status, 0, err);
  const manifests = manifestsOf(out);
  rendered.set(key, manifests);
  return manifests;
}

/** Throws on YAML that is wrong, such as a key that stands twice. */
export function manifestsOf(text: string): readonly Manifest[] {
  return parseAllDocuments(text).map((document) => {
    assert.deepEqual(document.errors, []);
    return document.toJS() as Manifest;
  });
}

/** The one object of a kind and, where there are more, of a name. */
export function only(manifests: readonly Manifest[], kind: string, name?: string): Manifest {
  const [found, ...more] = manifests.filter(
    (manifest) => manifest.kind === kind && (name === undefined || manifest.metadata.name === name),
  );
  assert.ok(found !== undefined && more.length === 0, `one ${kind}`);
  return found;
}

/** The value at a path of names and indices; undefined where there is none. */
export function at(value: unknown, ...path: readonly (string | number)[]): unknown {
  return path.reduce<unknown>((inner, step) => (inner as Record<string | number, unknown>)?.[step], value);
}

export const podOf = (manifests: readonly Manifest[]): Json =>
  at(only(manifests, 'DaemonSet'), 'spec', 'template', 'spec') as Json;

export interface Container extends Json {
  readonly name: string;
  readonly args: readonly string[];
}

export function containerOf(manifests: readonly Manifest[], name: 'pointsman' | 'init'): Container {
  const list = podOf(manifests)[name === 'init' ? 'initContainers' : 'containers'] as readonly Container[];
  const found = list.find((container) => container.name === name);
  assert.ok(found, `container ${name}`);
  return found;
}

/** The two files of the ConfigMap. */
export function configFiles(manifests: readonly Manifest[]): {
  readonly config: string;
  readonly kubeconfig: string;
} {
  const data = only(manifests, 'ConfigMap', 'pointsman').data as Readonly<Record<string, string>>;
  return { config: data['config.conf'] ?? '', kubeconfig: data['kubeconfig.conf'] ?? '' };
}

export const yaml = (text: string): unknown => parse(text);
