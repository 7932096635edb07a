// Shows time and values under the pointer. A chart says how its coordinates become values: value = a + b * coordinate.
for (const svg of document.querySelectorAll("svg[data-x]")) {
  const [ax, bx, ux] = svg.dataset.x.split(" "), [ay, by, ...uy] = svg.dataset.y.split(" ");
  const cross = svg.querySelector(".cross"), read = svg.querySelector(".read");
  const curves = [...svg.querySelectorAll(".curve")].map((path) => {
    const numbers = path.getAttribute("d").match(/-?[\d.]+/g).map(Number);
    return Array.from({ length: numbers.length >> 1 }, (_, i) => [numbers[2 * i], numbers[2 * i + 1]]);
  });
  const show = (event) => {
    const box = svg.getBoundingClientRect(), x = ((event.clientX - box.left) / box.width) * svg.viewBox.baseVal.width;
    const near = curves.map((points) => points.reduce((a, b) => (Math.abs(b[0] - x) < Math.abs(a[0] - x) ? b : a)));
    const values = near.map((point) => Number((+ay + +by * point[1]).toPrecision(7)));
    cross.setAttribute("d", `M${near[0][0]} 10V192`);
    read.textContent = `${Number((+ax + +bx * near[0][0]).toPrecision(4))} ${ux}: ${values.join(", ")} ${uy.join(" ")}`;
  };
  svg.addEventListener("pointermove", show);
  svg.addEventListener("pointerdown", show);
  svg.addEventListener("pointerleave", () => {
    cross.setAttribute("d", "");
    read.textContent = "";
  });
}
