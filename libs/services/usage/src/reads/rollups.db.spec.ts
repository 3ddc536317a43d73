import './days-and-pages.part.spec.js';
import './hours.part.spec.js';
import './located-tags.part.spec.js';
import './tag-sums.part.spec.js';
import '../erasures/erasures.part.spec.js';
