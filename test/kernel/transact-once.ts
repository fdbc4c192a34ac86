// Commits one empty change in the process's own namespace and prints what came of it: for tests of missing rights.
import { oneLine, PointsmanError } from '../../src/base/errors.ts';
import { createKernelClient } from '../../src/kernel/client.ts';
import { encodeBatch } from './nft-messages.ts';

try {
  await using client = await createKernelClient();
  console.log((await client.transact(encodeBatch(() => {}))).kind);
} catch (error) {
  console.log(`${error instanceof PointsmanError ? error.code : 'other'} ${oneLine(error)}`);
}
