import './refusals.part.spec.js';
import './errors.part.spec.js';
