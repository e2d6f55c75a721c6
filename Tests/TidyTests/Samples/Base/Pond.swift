// Two layers for `LayerTests`, Base below Top: each marked line uses what Top declares.

struct Pond {
  var depth = 1

  func herons() -> Int { heronCount }  // upward: member of an extension
  func heron() -> Pond.Heron? { nil }  // upward: type behind a dot
  func wade() -> Int { wadeThrough(self) }  // upward: function of no type
  func build() -> Dam { Dam(height: depth) }  // upward: type, initializer
  /// Not upward: the name alone is that of a function above.
  func deepen(wadeThrough: Int) -> Int { depth + wadeThrough }
}

protocol Swaying {
  func sway() -> Int
  func rest() -> Int
}

extension Pond: Swaying {}  // fulfilled above
