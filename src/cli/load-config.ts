// The configuration that flags ask for: their own, or that of a file with what flags still decide.
import { readFile } from 'node:fs/promises';
import { PointsmanError } from '../base/errors.ts';
import { parseConfigFile } from '../config/config-file.ts';
import type { Configuration } from '../config/configuration.ts';
import type { FlagValues } from '../config/flag-values.ts';
import { configurationOf, withFlags } from '../config/from-flags.ts';
import type { GivenFlag } from '../config/parse-flags.ts';

export interface LoadedConfiguration {
  readonly configuration: Configuration;
  /** What of the file was passed over, in words. */
  readonly lenient: string | undefined;
}

/** Not checked yet. Throws E_CONFIG when the file cannot be read or decoded. */
export async function loadConfiguration(
  values: FlagValues,
  given: readonly GivenFlag[],
): Promise<LoadedConfiguration> {
  if (values.config === '') return { configuration: configurationOf(values), lenient: undefined };
  let text: string;
  try {
    text = await readFile(values.config, 'utf8');
  } catch (cause) {
    throw new PointsmanError(
      'E_CONFIG',
      `failed complete: cannot read the configuration file ${values.config}: ${cause instanceof Error ? cause.message : String(cause)}`,
      { hint: 'correct --config', cause },
    );
  }
  const { configuration, lenient } = await parseConfigFile(text);
  return { configuration: withFlags(configuration, values, given), lenient };
}
