export { IMAGING_PIXELS_MAX, Imaging } from './imaging.js';
export { loadImaging } from './load-imaging.js';
