import './embeddings.part.spec.js';
import './moderations.part.spec.js';
import './rerank.part.spec.js';
import './web-search.part.spec.js';
