import { createHash } from 'node:crypto';
import { ADMIT } from './admit.lua.js';
import { CORRECT_CREDENTIAL, COUNT_CREDENTIAL } from './credential.lua.js';
import { MIRROR } from './mirror.lua.js';
import { PUT } from './put.lua.js';
import { ACCOUNTS_WITH_UNITS, DUE, READ, STAMP, UNHEARD, VERSION } from './reads.lua.js';
import type { LimitScript } from './script-pipe.js';

function script(name: string, lua: string): LimitScript {
  return { name, sha: createHash('sha1').update(lua).digest('hex'), lua };
}

export const LIMIT_SCRIPTS = {
  admit: script('admit', ADMIT),
  put: script('put', PUT),
  mirror: script('mirror', MIRROR),
  stamp: script('stamp', STAMP),
  version: script('version', VERSION),
  read: script('read', READ),
  due: script('due', DUE),
  unheard: script('unheard', UNHEARD),
  accountsWithUnits: script('accounts_with_units', ACCOUNTS_WITH_UNITS),
  countCredential: script('count_credential', COUNT_CREDENTIAL),
  correctCredential: script('correct_credential', CORRECT_CREDENTIAL),
} as const;
