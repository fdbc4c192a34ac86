// docs/flags.md, from the flag table.
import type { Flag, FlagState } from './flag-table.ts';

const INTRODUCTION = `# Flags of the proxy

Made by \`tools/flags-doc.ts\` from \`src/config/flag-table.ts\`: change it there.

\`pointsman [flags]\` runs the proxy with kube-proxy's flags. \`_\` and \`-\` are the same in names, the last of a repeated
flag counts, and \`--version\`, \`--version=raw\` and \`--help\` do what they say. All of
kube-proxy's flags are known; those without effect say why, and none is ever ignored in silence.
`;

const SECTIONS: readonly (readonly [FlagState, string])[] = [
  ['works', 'Flags that work'],
  ['accepted', 'Accepted, with nothing left to do'],
];

export function flagsMarkdown(flags: readonly Flag[]): string {
  const sections = SECTIONS.map(([state, title]) => {
    const rows = flags.filter((flag) => flag.state === state).map(row);
    return `## ${title}\n\n| flag | type | default | field of KubeProxyConfiguration | |\n|---|---|---|---|---|\n${rows.join('\n')}\n`;
  });
  return [INTRODUCTION, ...sections].join('\n');
}

function row(flag: Flag): string {
  const names = flag.shorthand === undefined ? `\`--${flag.name}\`` : `\`-${flag.shorthand}\``;
  const code = (text: string): string => (text === '' ? '' : `\`${text}\``);
  return `| ${names} | ${flag.type} | ${code(flag.default)} | ${code(flag.field)} | ${flag.help} |`;
}
