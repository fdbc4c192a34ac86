// Generic netlink (linux/genetlink.h): the header of its messages, and the number of a family by its name.
import { PointsmanError } from '../../base/errors.ts';
import type { DirectKernel } from '../direct.ts';
import { NLM_F_REQUEST } from '../netlink/constants.ts';
import { attributeMap, hostU16, messagesOf } from '../netlink/reader.ts';
import { createNetlinkWriter, type NetlinkWriter } from '../netlink/writer.ts';
import { ENOENT } from '../sys/errno.ts';

export const GENL_HDRLEN = 4;
const GENL_ID_CTRL = 16;
const CTRL_VERSION = 2;
const CTRL_CMD_NEWFAMILY = 1;
const CTRL_CMD_GETFAMILY = 3;
const CTRL_ATTR_FAMILY_ID = 1;
const CTRL_ATTR_FAMILY_NAME = 2;

/** `struct genlmsghdr`. */
export const genlmsghdr = (command: number, version: number): Uint8Array =>
  Uint8Array.of(command, version, 0, 0);

/** Writes the kernel's answer about a family; for fakes of the kernel. */
export function writeFamily(writer: NetlinkWriter, name: string, id: number): void {
  writer.beginMessage(GENL_ID_CTRL, 0, 1);
  writer.raw(genlmsghdr(CTRL_CMD_NEWFAMILY, CTRL_VERSION));
  writer.string(CTRL_ATTR_FAMILY_NAME, name);
  writer.host16(CTRL_ATTR_FAMILY_ID, id);
  writer.endMessage();
}

/**
 * The number of a family, which is nlmsg_type of its messages; undefined when the kernel has no such family. Asking makes
 * the kernel load the family's module where it has one.
 */
export function familyNumber(kernel: Pick<DirectKernel, 'request'>, name: string): number | undefined {
  const writer = createNetlinkWriter(64);
  writer.beginMessage(GENL_ID_CTRL, NLM_F_REQUEST, 1);
  writer.raw(genlmsghdr(CTRL_CMD_GETFAMILY, CTRL_VERSION));
  writer.string(CTRL_ATTR_FAMILY_NAME, name);
  writer.endMessage();
  try {
    for (const datagram of kernel.request('generic', writer.finish())) {
      for (const { type, payload } of messagesOf(datagram)) {
        if (type !== GENL_ID_CTRL) continue;
        const id = attributeMap(payload, GENL_HDRLEN).get(CTRL_ATTR_FAMILY_ID);
        if (id !== undefined) return hostU16(id);
      }
    }
  } catch (error) {
    if (error instanceof PointsmanError && error.facts.errno === ENOENT) return undefined;
    throw error;
  }
  throw new PointsmanError('E_MALFORMED', `the kernel did not tell the number of the netlink family ${name}`);
}
