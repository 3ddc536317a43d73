export { FolderStore } from './folder-store.js';
export { ObjectStoreConfig } from './object-store.config.js';
export { ObjectStoreModule } from './object-store.module.js';
