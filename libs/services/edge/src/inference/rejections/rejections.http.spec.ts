import './rejections.part.spec.js';
import './errors.part.spec.js';
