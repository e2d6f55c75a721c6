import TarnStore

/// The elements of a source at a version, read at their first use.
///
/// Threading: confined to the instance's scheduler. Keeps the versions in the file while it
/// lives.
final class PastElements {
  private let read: () throws(StorageError) -> LiveElements
  private lazy var elements = trapping { () throws(StorageError) in try read() }
  private let makeWalk: () throws(StorageError) -> NestedWalk?
  /// The changes in linked objects since an earlier version; nil if unknown.
  private(set) lazy var walk = trapping { () throws(StorageError) in try makeWalk() }

  private let classes: Set<ClassID>
  private let state: PastState?

  /// - Parameters:
  ///   - classes: the classes of elements that are objects.
  ///   - state: the state at that version; nil if the elements are not objects.
  ///   - read: reads the elements.
  ///   - walk: begins to follow their links.
  init(
    of classes: Set<ClassID>, in state: PastState?,
    _ read: @escaping () throws(StorageError) -> LiveElements,
    walk: @escaping () throws(StorageError) -> NestedWalk?
  ) {
    self.classes = classes
    self.state = state
    self.read = read
    makeWalk = walk
  }

  var count: Int { elements.count }

  /// The given number of these elements, each by its position among all.
  func part(_ count: Int, _ position: @escaping (Int) -> Int) -> PastElements {
    PastElements(of: classes, in: state) { [self] () throws(StorageError) in
      .part(elements, count: count, position)
    } walk: { [self] () throws(StorageError) in
      walk
    }
  }

  /// The object that an element is; nil for a value.
  func object(_ element: Value) -> ObjectRef? {
    switch element {
    case .link(let key): classes.first.map { ObjectRef(classID: $0, key: key) }
    case .object(let id, let key): ObjectRef(classID: id, key: key)
    default: nil
    }
  }

  func value(at position: Int) -> Value {
    trapping { () throws(StorageError) in try elements.value(at: position) }
  }

  /// The value at the end of a path from an element that is an object; null through a nil link.
  func value(along path: ScopePath, from element: Value) -> Value {
    guard let object = object(element), let state else { return .null }
    return trapping { () throws(StorageError) in
      try state.rows().value(along: path, from: object.key)
    }
  }

  /// Maps: the key at a position.
  func key(at position: Int) -> String {
    trapping { () throws(StorageError) in try elements.key(at: position) }
  }

  /// Maps: the value under a key, nil if the key does not exist.
  func value(for key: String) -> Value? {
    trapping { () throws(StorageError) in try elements.value(for: key) }
  }
}
