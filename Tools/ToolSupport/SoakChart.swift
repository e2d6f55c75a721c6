/// Figures over time as lines, in SVG: a picture for each group of series, one below the other.
package struct SoakChart {
  package struct Panel {
    let title: String
    let series: [SoakSeries]
    /// A value of the series with its unit.
    let text: (Double) -> String

    package init(title: String, series: [SoakSeries], text: @escaping (Double) -> String) {
      self.title = title
      self.series = series
      self.text = text
    }
  }

  // In pixels of the picture's natural size.
  private static let width = 720
  private static let left = 90
  private static let plotWidth = 440
  private static let plotHeight = 150
  private static let panelHeight = 215
  private static let headHeight = 60
  private static let colors = [
    "#2f6f9f", "#d9b45a", "#7a9f5a", "#b0563b", "#7b5aa6", "#4a5a68", "#c77d9f", "#5aa6a0",
  ]

  private let title: String
  private let length: Double
  private let panels: [Panel]

  /// - Parameter length: of the run, in seconds.
  package init(title: String, length: Double, panels: [Panel]) {
    self.title = title
    self.length = length
    self.panels = panels
  }

  /// The SVG file.
  package var svg: String {
    let height = Self.headHeight + panels.count * Self.panelHeight
    var body = ""
    for (number, panel) in panels.enumerated() {
      body += draw(panel, Self.headHeight + number * Self.panelHeight)
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(height)" \
      viewBox="0 0 \(Self.width) \(height)" font-family="sans-serif" font-size="13">
        <title>\(title)</title>
        <style>
          text { fill: #1d2b38; }
          .head { font-weight: bold; }
          .note { fill: #4a5a68; }
          polyline { fill: none; stroke-width: 1.5; }
          line { stroke: #cfd8e0; }
        </style>
        <rect width="\(Self.width)" height="\(height)" fill="#ffffff"/>
      \(Self.text(title, 16, 26, style: "head"))\
      \(Self.text("The last half, right of the line, is judged.", 16, 46, style: "note"))\
      \(body)</svg>

      """
  }

  private func draw(_ panel: Panel, _ top: Int) -> String {
    let most = panel.series.flatMap(\.points).map(\.value).max() ?? 1
    let (low, high) = (top + 20 + Self.plotHeight, top + 20)
    let half = Self.left + Self.plotWidth / 2
    var body = Self.text(panel.title, 16, top + 8, style: "head")
    for share in [0, 0.5, 1] {
      let y = low - Int(share * Double(Self.plotHeight))
      body += Self.line(Self.left, y, Self.left + Self.plotWidth, y)
      body += Self.text(panel.text(share * most), 16, y + 4, style: "note")
    }
    body += Self.line(half, low, half, high)
    for (number, series) in panel.series.enumerated() {
      let color = Self.colors[number % Self.colors.count]
      let points = series.points.map { point in
        let x = Double(Self.left) + point.time / max(length, 1) * Double(Self.plotWidth)
        let y = Double(low) - point.value / max(most, 1) * Double(Self.plotHeight)
        return "\(Self.rounded(x)),\(Self.rounded(y))"
      }
      body += "  <polyline stroke=\"\(color)\" points=\"\(points.joined(separator: " "))\"/>\n"
      let y = high + 12 + 17 * number
      body +=
        "  <rect x=\"546\" y=\"\(y - 9)\" width=\"10\" height=\"10\" fill=\"\(color)\"/>\n"
        + Self.text(series.name, 562, y, style: "note")
    }
    return body + Self.text("0", Self.left, low + 16, style: "note")
      + Self.text("\(Int(length)) s", Self.left + Self.plotWidth - 40, low + 16, style: "note")
  }

  private static func rounded(_ value: Double) -> Double { (value * 10).rounded() / 10 }

  private static func line(_ x1: Int, _ y1: Int, _ x2: Int, _ y2: Int) -> String {
    "  <line x1=\"\(x1)\" y1=\"\(y1)\" x2=\"\(x2)\" y2=\"\(y2)\"/>\n"
  }

  private static func text(_ text: String, _ x: Int, _ y: Int, style: String) -> String {
    "  <text class=\"\(style)\" x=\"\(x)\" y=\"\(y)\">\(text)</text>\n"
  }
}
