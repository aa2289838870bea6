// What measurements of a page need in it: when the next frame is drawn, and how long an action takes until it is.

export const TIMING = `
  const drawn = () => new Promise((resolve) => requestAnimationFrame(() => { const { port1, port2 } = new MessageChannel(); port2.onmessage = resolve; port1.postMessage(0); }));
  const step = async (action) => {
    await drawn();
    const start = performance.now();
    action();
    const script = performance.now() - start;
    await drawn();
    return { script, frame: performance.now() - start };
  };
`;
