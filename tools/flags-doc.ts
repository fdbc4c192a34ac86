// Writes docs/flags.md from the flag table.
import { writeFileSync } from 'node:fs';
import { FLAGS } from '../src/config/flag-table.ts';
import { flagsMarkdown } from '../src/config/flags-markdown.ts';

writeFileSync(new URL('../docs/flags.md', import.meta.url), flagsMarkdown(FLAGS));
