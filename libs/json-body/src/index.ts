export { BodyFault, JSON_BOUNDS, parseBody } from './parsed-body.js';
export type { ParsedBody } from './parsed-body.js';
export { spliceMembers } from './splice.js';
