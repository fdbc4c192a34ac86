// The commands, their help, and what becomes of a wrong one.
import { Command, CommanderError } from 'commander';
import { PointsmanError } from '../base/errors.ts';
import { FLAGS } from '../config/flag-table.ts';
import { type CompletionWords, completionScript, SHELLS } from './completion.ts';
import { addDemoCommand } from './demo-command.ts';
import { flagsHelp } from './flags-help.ts';
import { addLabCommands } from './lab-commands.ts';
import { EXIT_ERROR, EXIT_FINE, EXIT_USAGE, printError, type Terminal } from './terminal.ts';
import { ownVersion, versionText } from './version.ts';

/** What the actions of one run share. */
export interface Run {
  readonly terminal: Terminal;
  /** The exit code; an action that finds something sets it. */
  exitCode: number;
}

const WIDTH = 100;
const USUAL_EXIT_CODES = '0 fine, 1 an error, 2 wrong usage';
const EXIT_CODES: Readonly<Record<string, string>> = {
  'lab status': `${USUAL_EXIT_CODES}, 3 something is not well`,
  'lab exec': `that of the command; ${USUAL_EXIT_CODES} before it runs`,
  'lab kubectl': `that of kubectl; ${USUAL_EXIT_CODES} before it runs`,
};

/** Runs one command and resolves with the exit code: 2 for wrong usage, 1 for an error. */
export async function runCommands(args: readonly string[], terminal: Terminal): Promise<number> {
  const run: Run = { terminal, exitCode: EXIT_FINE };
  const separator = args.indexOf('--');
  const own = separator === -1 ? args : args.slice(0, separator);
  const details = own.includes('-v') || own.includes('--verbose');
  try {
    await commandTree(run).parseAsync(args, { from: 'user' });
    return run.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === EXIT_FINE) return EXIT_FINE;
      // A group of commands without one of them has shown its help.
      if (error.code !== 'commander.help') printError(terminal, usageError(error), details);
      return EXIT_USAGE;
    }
    printError(terminal, error, details);
    return error instanceof PointsmanError && error.code === 'E_USAGE' ? EXIT_USAGE : EXIT_ERROR;
  }
}

/** What `pointsman --help` shows. */
export function overview(): string {
  const nobody: Terminal = { env: {}, own: false, out() {}, err() {} };
  return `${commandTree({ terminal: nobody, exitCode: EXIT_FINE }).helpInformation()}\n${flagsHelp(FLAGS)}`;
}

function commandTree(run: Run): Command {
  const { terminal } = run;
  const program = new Command('pointsman');
  program
    .description('A kube-proxy. With flags and no command it runs the proxy; everything else is a command.')
    .usage('[flags] | COMMAND [options]')
    .helpOption('-h, --help', 'show this')
    .enablePositionalOptions()
    .exitOverride()
    .configureHelp({ helpWidth: WIDTH, sortSubcommands: false })
    .configureOutput({
      writeOut: (text) => terminal.out(text),
      writeErr: (text) => terminal.err(text),
      outputError: () => {},
    });
  addDemoCommand(program, run);
  addLabCommands(program, run);
  program
    .command('version')
    .description('print the version')
    .option('-o, --output <format>', 'json')
    .action(({ output }: { readonly output?: string }) => {
      if (output !== undefined && output !== 'json')
        throw new PointsmanError('E_USAGE', `there is no output format "${output}"`, { hint: 'use -o json' });
      terminal.out(versionText(ownVersion(), output === 'json'));
    });
  program
    .command('completion')
    .description('print a completion script for a shell')
    .argument('<shell>', SHELLS.join(', '))
    .action((shell: string) => terminal.out(completionScript(shell, completionWords(program))));
  program.helpCommand('help [command]', 'say more of a command');
  program.addHelpText('after', () => `\n${flagsHelp(FLAGS)}`);
  for (const command of commandsBelow(program)) {
    command.option('-v, --verbose', 'tell more of an error');
    command.addHelpText('after', `\nExit codes: ${EXIT_CODES[pathOf(command)] ?? USUAL_EXIT_CODES}.`);
  }
  return program;
}

/** All commands that do something themselves. */
function commandsBelow(command: Command): readonly Command[] {
  return command.commands.flatMap((child) => (child.commands.length > 0 ? commandsBelow(child) : [child]));
}

/** `lab up`. */
function pathOf(command: Command): string {
  const group = command.parent;
  return group?.parent ? `${pathOf(group)} ${command.name()}` : command.name();
}

/** Commander's error in our form: `error: unknown command 'x'\n(Did you mean y?)`. */
function usageError({ message }: CommanderError): PointsmanError {
  const [what = '', suggestion = ''] = message.replace(/^error: /, '').split('\n', 2);
  const meant = /^\(Did you mean (.*)\?\)$/.exec(suggestion)?.[1];
  const hint = meant === undefined ? 'see pointsman help' : `did you mean ${meant}? See pointsman help`;
  return new PointsmanError('E_USAGE', what.replace(/\.$/, ''), { hint });
}

function completionWords(program: Command): readonly CompletionWords[] {
  const flags = FLAGS.map(({ name, bare }) => (bare === undefined ? `--${name}=` : `--${name}`));
  const below = (command: Command, after: readonly string[]): readonly CompletionWords[] => {
    const names = command.commands.map((child) => child.name());
    const options = command.options.flatMap(({ long }) => long ?? []);
    const words =
      after.length === 0
        ? [...names, 'help', ...flags]
        : [...names, ...options, ...(command.name() === 'kubectl' ? [] : ['--help'])];
    return [{ after, words }, ...command.commands.flatMap((child) => below(child, [...after, child.name()]))];
  };
  const shells: CompletionWords = { after: ['completion'], words: SHELLS };
  return [...below(program, []).filter(({ after }) => after[0] !== 'completion'), shells];
}
