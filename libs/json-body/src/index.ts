export { BodyFault, JSON_BOUNDS, parseBody } from './parsed-body.js';
export type { ParsedBody } from './parsed-body.js';
export { spliceMembers } from './splice.js';
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
export { isObject, writeJson } from './write-json.js';
export type { JsonObject } from './write-json.js';
