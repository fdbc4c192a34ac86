// How willing the kernel is to kill this process when memory runs out.
import { writeFile } from 'node:fs/promises';
import type { Logger } from '../base/log.ts';

/** Sets it; a failure is worth no more than a line at V(2), as upstream. */
export async function setOomScore(adjustment: number, log: Logger): Promise<void> {
  try {
    await writeFile('/proc/self/oom_score_adj', String(adjustment));
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    log.debug(2, 'Failed to set oom_score_adj', { adjustment, reason });
  }
}
