// The proxy's flags as --help shows them.
import type { Flag } from '../config/flag-table.ts';

const WIDTH = 100;
const INDENT = 10;

/** All flags, by name. */
export function flagsHelp(flags: readonly Flag[]): string {
  const shown = flags.toSorted((a, b) => (a.name < b.name ? -1 : 1));
  const items = shown.map((flag) => {
    const value = flag.bare === undefined ? ` ${flag.type}` : '';
    const standard = flag.default === '' ? '' : ` (default ${flag.default})`;
    const names = flag.shorthand === undefined ? `    --${flag.name}` : `-${flag.shorthand}, --${flag.name}`;
    return `  ${names}${value}\n${wrapped(`${flag.help}${standard}`)}`;
  });
  return `Flags of the proxy:\n${items.join('\n')}\n`;
}

function wrapped(text: string): string {
  const lines: string[] = [];
  let line = '';
  for (const word of text.split(' ')) {
    if (line !== '' && INDENT + line.length + 1 + word.length > WIDTH) {
      lines.push(line);
      line = word;
    } else line = line === '' ? word : `${line} ${word}`;
  }
  return [...lines, line].map((each) => ' '.repeat(INDENT) + each).join('\n');
}
