import TarnStore

/// What something managed is to every Realm of its file: names and keys. It holds neither a Realm
/// nor a version of the file, so it can be kept, copied and sent for as long as one likes.
protocol Passage: Sendable {
  /// What it stands and falls with.
  var anchor: PassageAnchor { get }
  /// What it is about, as that instance shows it; nil if it is not there.
  func arrival(in core: RealmCore) -> (any ThreadConfined)?
}

/// Where it can be looked up whether something is still there.
enum PassageAnchor: Sendable {
  /// All objects of a class: nothing that could be deleted.
  case nothing
  case row(LinkTarget)
  case sequence(SequencePlace)
}

/// A passage on its way through public code.
public struct _Passage {
  let content: any Passage
  /// The write that made what it is about; nil if that was there before anybody looked.
  let createdInWrite: WriteMark?

  init(_ content: any Passage, createdInWrite: WriteMark?) {
    self.content = content
    self.createdInWrite = createdInWrite
  }

  /// The same for something that is made of it.
  func map(_ transform: (any Passage) -> any Passage) -> _Passage {
    _Passage(transform(content), createdInWrite: createdInWrite)
  }
}

/// A key path to a property, to be passed on.
struct PassedKeyPath<Root, Value>: @unchecked Sendable {
  // because: a key path never changes, and one to a property holds nothing but that.
  let keyPath: KeyPath<Root, Value>
}
