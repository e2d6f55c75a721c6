import TarnStore

/// What the collections of one place read through, until rows move; one of a frozen instance
/// belongs to a thread.
final class SequenceView {
  fileprivate(set) var reading: (any SequenceReading)?

  init(_ reading: any SequenceReading) { self.reading = reading }
}

/// Views of the collections that were read last, by their places.
struct SequenceViews {
  private static let countMax = 64

  private var views: [SequencePlace: SequenceView] = [:]

  var isEmpty: Bool { views.isEmpty }

  subscript(place: SequencePlace) -> SequenceView? { views[place] }

  mutating func keep(_ reading: any SequenceReading, at place: SequencePlace) -> SequenceView {
    if views.count == Self.countMax { forget() }
    let view = SequenceView(reading)
    views[place] = view
    return view
  }

  /// Makes every collection find anew what it reads through, and lets go of what that was.
  mutating func forget() {
    for view in views.values { view.reading = nil }
    views.removeAll(keepingCapacity: true)
  }
}
