import TarnStore

/// Identifies a managed object or collection in every Realm of its file, by names and keys. It
/// holds neither a Realm nor a version of the file, so it can be kept, copied and sent without
/// limit.
protocol Passage: Sendable {
  /// The object or collection on which its existence depends.
  var anchor: PassageAnchor { get }
  /// Its counterpart in that instance; nil if it does not exist there.
  func arrival(in core: RealmCore) -> (any ThreadConfined)?
}

/// The place to check whether an object or collection still exists.
enum PassageAnchor: Sendable {
  /// All objects of a class, which cannot be deleted.
  case nothing
  case row(ObjectRef)
  case sequence(SequencePlace)
}

/// A passage on its way through public code.
public struct _Passage {
  let content: any Passage
  /// The write that made the object; nil if it existed before.
  let createdInWrite: WriteMark?

  init(_ content: any Passage, createdInWrite: WriteMark?) {
    self.content = content
    self.createdInWrite = createdInWrite
  }

  /// The same for an object derived from it.
  func map(_ transform: (any Passage) -> any Passage) -> _Passage {
    _Passage(transform(content), createdInWrite: createdInWrite)
  }
}

/// A key path to a property, to be passed on.
struct PassedKeyPath<Root, Value>: @unchecked Sendable {
  // because: a key path never changes, and one to a property holds no values.
  let keyPath: KeyPath<Root, Value>
}
