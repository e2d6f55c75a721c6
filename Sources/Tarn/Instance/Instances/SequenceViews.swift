import TarnStore

/// The shared view of the collections at one place, until rows move; in a frozen instance it
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

  /// Makes every collection look its view up again, and releases the old views.
  mutating func forget() {
    for view in views.values { view.reading = nil }
    views.removeAll(keepingCapacity: true)
  }
}
