export { startUpstreamSim, type UpstreamSim, type UpstreamSimOptions } from './upstream-sim.js';
export type { RecordedRequest } from './record.js';
export { OPENAI_ERRORS } from './errors-openai.js';
export { ANTHROPIC_ERRORS } from './errors-anthropic.js';
export type { ErrorTable, NativeError } from './error-table.js';
