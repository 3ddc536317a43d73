import { boundMemory } from './memory.config.js';

boundMemory();
await import('./edge.js');
