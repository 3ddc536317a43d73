import { boundMemory } from '@gateway/platform/memory';

boundMemory();
await import('./usage.js');
