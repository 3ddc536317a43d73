// Stands for a CSS module in Jest: each class is called by its name.
export default new Proxy({}, { get: (_target, name) => String(name) });
