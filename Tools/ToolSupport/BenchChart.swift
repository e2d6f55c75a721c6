/// Figures as bars, in SVG: for each workload a bar for Tarn, the baseline and SQLite. All are
/// times or sizes, so shorter is better; each workload has its own scale.
package struct BenchChart {
  private let title: String
  private let figures: [BenchFigure]

  // In pixels of the picture's natural size.
  private static let width = 720
  private static let left = 16
  private static let barsStart = 100
  private static let longestBar = 500
  private static let barHeight = 14
  private static let barStep = 19
  private static let headHeight = 64

  /// - Parameter figures: those without a baseline and without SQLite are omitted.
  package init(title: String, figures: [BenchFigure]) {
    self.title = title
    self.figures = figures.filter { $0.floor != nil || $0.sqlite != nil }
  }

  /// Whether there is nothing to compare.
  package var isEmpty: Bool { figures.isEmpty }

  private struct Bar {
    let name: String
    let style: String
    let value: Double
  }

  private static func bars(_ figure: BenchFigure) -> [Bar] {
    func time(_ value: Double) -> Double { figure.unit == .perSecond ? 1 / value : value }
    let all: [(String, String, Double?)] = [
      ("Tarn", "ours", figure.ours), ("baseline", "floor", figure.floor),
      ("SQLite", "sqlite", figure.sqlite),
    ]
    return all.compactMap { name, style, value in
      guard let value, value > 0 else { return nil }
      return Bar(name: name, style: style, value: time(value))
    }
  }

  /// The SVG file.
  package var svg: String {
    var body = ""
    var top = Self.headHeight
    for figure in figures {
      body += Self.text("\(figure.id)  \(figure.title)", Self.left, top + 14, style: "head")
      top += 22
      let bars = Self.bars(figure)
      let longest = bars.map(\.value).max() ?? 1
      for bar in bars {
        body += Self.draw(bar, of: longest, figure.unit, top)
        top += Self.barStep
      }
      top += 14
    }
    return """
      <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(top)" \
      viewBox="0 0 \(Self.width) \(top)" font-family="sans-serif" font-size="14">
        <title>\(Self.escaped(title))</title>
        <style>
          text { fill: #1d2b38; }
          .head { font-weight: bold; }
          .note { fill: #4a5a68; }
          .ours { fill: #2f6f9f; }
          .floor { fill: #9fb0c0; }
          .sqlite { fill: #d9b45a; }
        </style>
        <rect width="\(Self.width)" height="\(top)" fill="#ffffff"/>
      \(Self.text(title, Self.left, 26, style: "head"))\
      \(Self.text("Shorter is better. Each workload has a scale of its own.", Self.left, 48))\
      \(body)</svg>

      """
  }

  private static func draw(_ bar: Bar, of longest: Double, _ unit: BenchUnit, _ top: Int) -> String
  {
    let length = max(1, Int((Double(longestBar) * bar.value / longest).rounded()))
    let label = (unit == .bytes ? BenchUnit.bytes : .seconds).text(bar.value)
    return text(bar.name, left, top + 12, style: "note")
      + "  <rect class=\"\(bar.style)\" x=\"\(barsStart)\" y=\"\(top)\" width=\"\(length)\" "
      + "height=\"\(barHeight)\"/>\n" + text(label, barsStart + length + 8, top + 12)
  }

  private static func text(_ text: String, _ x: Int, _ y: Int, style: String = "") -> String {
    let style = style.isEmpty ? "" : " class=\"\(style)\""
    return "  <text\(style) x=\"\(x)\" y=\"\(y)\">\(escaped(text))</text>\n"
  }

  private static func escaped(_ text: String) -> String {
    text.replacingASCII { scalar in
      switch scalar {
      case "&": "&amp;"
      case "<": "&lt;"
      case ">": "&gt;"
      default: nil
      }
    }
  }
}
