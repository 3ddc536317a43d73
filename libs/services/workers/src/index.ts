export { WorkersModule } from './workers.module.js';
