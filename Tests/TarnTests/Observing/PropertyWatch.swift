import Foundation

@testable import Tarn

/// What the observer of a property was told, as text.
final class PropertyWatch<Root, Value> {
  typealias Change = PropertyObservedChange<Value>

  private(set) var calls: [String] = []
  private(set) var objects: [Root] = []
  var token: NotificationToken?
  var onCall: (Root, Change) -> Void = { _, _ in }
  private let text: (Value) -> String

  fileprivate init(_ text: @escaping (Value) -> String) { self.text = text }

  /// The calls since the last time that somebody asked.
  var news: [String] {
    defer { calls = [] }
    return calls
  }

  fileprivate func note(_ object: Root, _ change: Change) {
    objects.append(object)
    var call = change.isPrior ? "before: " : ""
    if change.kind != .setting || change.indexes != nil {
      call += "\(change.kind) \(change.indexes.map { Array($0) } ?? [])"
    } else {
      let (old, new) = (change.oldValue.map(text), change.newValue.map(text))
      call += "\(old ?? "-") → \(new ?? "-")"
    }
    calls.append(call)
    onCall(object, change)
  }
}

/// Observes a property and keeps what is told.
func watch<Root: ObjectObservable, Value>(
  _ object: Root, _ keyPath: KeyPath<Root, Value>,
  _ options: PropertyObservingOptions = [.old, .new],
  text: @escaping (Value) -> String = { plain($0) }
) -> PropertyWatch<Root, Value> {
  let watch = PropertyWatch<Root, Value>(text)
  watch.token = object.observe(keyPath, options: options) { [unowned watch] in watch.note($0, $1) }
  return watch
}

/// The same of whether a list is there.
func watchEnd<Element>(
  _ list: List<Element>, _ options: PropertyObservingOptions = [.old, .new]
) -> PropertyWatch<List<Element>, Bool> {
  let watch = PropertyWatch<List<Element>, Bool>(plain)
  watch.token = list.observe(\.isInvalidated, options: options) { [unowned watch] in
    watch.note($0, $1)
  }
  return watch
}

private func plain<Value>(_ value: Value) -> String {
  switch flattened(value) {
  case nil: "nil"
  case let home as Home: home.isInvalidated ? "gone" : home.street
  case let hound as Hound: hound.isInvalidated ? "gone" : "hound \(hound.id)"
  case let list as List<Hound>: "\(Array(list.map(\.id)))"
  case let value?: "\(value)"
  }
}
