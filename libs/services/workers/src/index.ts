export { WorkersConfig } from './workers.config.js';
export { WorkersModule } from './workers.module.js';
export { SCHEMA as WORKERS_SCHEMA, SCHEMA_DIR as WORKERS_SCHEMA_DIR } from './postgres/workers-database.js';
