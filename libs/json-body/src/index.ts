export { BodyFault, JSON_BOUNDS, parseBody } from './parsed-body.js';
export type { ParsedBody } from './parsed-body.js';
export {
  canonicalJson,
  isObject,
  isSpelled,
  spliceMembers,
  writeJson,
  type JsonObject,
} from './write-json.js';
export {
  memberAsWritten,
  membersAsWritten,
  noteMember,
  numberText,
  parseSpelled,
  rememberSpelling,
  spellBody,
  spelledLike,
  withoutHidden,
} from './spelling.js';
