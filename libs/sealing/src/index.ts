export { kekIdOf, openEnvelope, rewrapped, sealEnvelope } from './envelope.js';
export type { Envelope, EnvelopeContext } from './envelope.js';
export { kekFromFile } from './kek-file.js';
export { seal, unsealWithAny } from './seal.js';
