import './images.part.spec.js';
import './image-edits.part.spec.js';
import './infer-once.part.spec.js';
import './image-tasks.part.spec.js';
// Videos that it has begun are looked at for a while longer.
import './creates.part.spec.js';
