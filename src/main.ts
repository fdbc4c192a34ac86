// The program: hands the arguments to the command line and ends with its exit code.
import { runCommandLine } from './cli/command-line.ts';

// A reader that went away, as in `pointsman help | head -1`, is no reason to complain.
process.stdout.on('error', () => {});
process.stderr.on('error', () => {});
process.exitCode = await runCommandLine(process.argv.slice(2), {
  env: process.env,
  own: true,
  out: (text) => process.stdout.write(text),
  err: (text) => process.stderr.write(text),
});
// All is closed by now, and the process ends by itself; should something be left, it ends all the same.
setTimeout(() => process.exit(), 2_000).unref();
