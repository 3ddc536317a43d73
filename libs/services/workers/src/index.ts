export { WorkersConfig } from './workers.config.js';
export { WorkersModule } from './workers.module.js';
