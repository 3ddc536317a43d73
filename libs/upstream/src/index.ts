export { CircuitBreakers } from './breakers.js';
export { UndiciTransport } from './undici-transport.js';
