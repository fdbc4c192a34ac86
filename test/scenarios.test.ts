// The scenario tables against the plan alone: no kernel, every mode's rules.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FAMILIES, type Family } from '../src/model/address.ts';
import { PROTOCOLS } from '../src/model/service.ts';
import { endpointText } from '../src/model/service-port.ts';
import { type Fate, fateOf } from '../src/plan/fate.ts';
import { familiesOf, textIn } from './scenarios/family.ts';
import { readPacket } from './scenarios/packet-line.ts';
import type { Scenario, ServiceGiven } from './scenarios/scenario.ts';
import { NODE_ADDRESSES } from './scenarios/stage.ts';
import { SCENARIOS } from './scenarios/tables.ts';
import { createWorld, settingsOf, type World } from './scenarios/world.ts';

const node = {
  local: FAMILIES.flatMap((family) => [...NODE_ADDRESSES, '127.0.0.1'].map((text) => textIn(family, text))),
};

function shown(fate: Fate, source: string): string {
  switch (fate.kind) {
    case 'forwarded': {
      const hairpin = fate.endpoints.some(({ address }) => address === source);
      return `${fate.endpoints.map(endpointText).sort().join(' ')} ${fate.masqueraded || hairpin ? 'M' : '-'}`;
    }
    case 'rejected':
      return 'refused';
    case 'dropped':
      return 'silence';
    case 'untouched':
      return 'untouched';
  }
}

async function check(
  world: World,
  scenario: Scenario,
  family: Family,
  lines: readonly string[],
  services: Readonly<Record<string, ServiceGiven>>,
): Promise<void> {
  await world.state.take();
  for (const line of lines) {
    const packet = readPacket(line, services, family);
    for (const protocol of scenario.protocols ?? PROTOCOLS) {
      const fate = fateOf(
        {
          source: packet.source,
          destination: packet.address,
          protocol,
          port: packet.port,
          inputInterface: packet.place === 'node' ? undefined : packet.place,
        },
        world.state.table,
        node,
      );
      const { outcome } = packet;
      const expected =
        outcome.kind === 'answered'
          ? `${[...outcome.servers].sort().join(' ')} ${outcome.masqueraded ? 'M' : '-'}`
          : outcome.kind;
      assert.equal(shown(fate, packet.source), expected, `${line} over ${protocol}: ${fate.because}`);
    }
  }
}

for (const [scenario, family] of SCENARIOS.flatMap((one) =>
  familiesOf(one).map((item) => [one, item] as const),
)) {
  test(`${family}: ${scenario.id}: ${scenario.title}`, async () => {
    const world = createWorld(settingsOf(scenario));
    const services = { ...scenario.services };
    world.set(services, family);
    await check(world, scenario, family, scenario.packets, services);
    for (const step of scenario.steps ?? []) {
      world.set(step.services, family);
      for (const [name, given] of Object.entries(step.services)) if (given !== null) services[name] = given;
      await check(world, scenario, family, step.packets, services);
    }
  });
}
