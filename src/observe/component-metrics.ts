// What every component of Kubernetes tells of itself, by upstream's names.
import { Gauge, type Registry } from 'prom-client';

export function addComponentMetrics(
  registry: Registry,
  version: string,
  features: readonly { readonly name: string; readonly on: boolean }[],
): void {
  const registers = [registry];
  new Gauge({
    name: 'kubernetes_build_info',
    help: 'Always 1; the labels tell what this is',
    labelNames: [
      'major',
      'minor',
      'git_version',
      'git_commit',
      'git_tree_state',
      'build_date',
      'go_version',
      'compiler',
      'platform',
    ],
    registers,
  }).set(
    {
      // The Kubernetes version that this is a drop-in for.
      major: '1',
      minor: '36',
      git_version: `v1.36.0+pointsman-${version}`,
      git_commit: '',
      git_tree_state: '',
      build_date: '',
      go_version: '',
      compiler: 'node',
      platform: `linux/${process.arch === 'x64' ? 'amd64' : process.arch}`,
    },
    1,
  );
  const enabled = new Gauge({
    name: 'kubernetes_feature_enabled',
    help: '1 while a feature gate is on',
    labelNames: ['name', 'stage'],
    registers,
  });
  for (const { name, on } of features) enabled.set({ name, stage: '' }, on ? 1 : 0);
}
