import Foundation

/// The library that reads the index which the compiler writes beside a debug build. It comes with
/// the toolchain: SwiftPM itself finds tests with it.
struct IndexLibrary {
  typealias Handle = UnsafeMutableRawPointer
  /// A text of the library: a pointer and a length. `iovec` is laid out like that, and a C function
  /// can only return what C knows.
  typealias Text = iovec

  private typealias OnText = @convention(c) (Handle?, Text) -> Bool
  private typealias OnHandle = @convention(c) (Handle?, Handle?) -> Bool
  private typealias Open =
    @convention(c) (UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Handle?
  private typealias OpenIn =
    @convention(c) (Handle, UnsafePointer<CChar>, UnsafeMutablePointer<Handle?>) -> Handle?
  private typealias Dispose = @convention(c) (Handle) -> Void
  private typealias Units = @convention(c) (Handle, UInt32, Handle, OnText) -> Bool
  private typealias Each = @convention(c) (Handle, Handle, OnHandle) -> Bool

  /// What a dependency of a unit is if it names a record.
  private static let record: Int32 = 2

  private let library: Handle

  /// What cannot be read, and why.
  struct Failure: Error, CustomStringConvertible {
    let description: String
  }

  /// Loads the library from beside the Swift runtime that this process uses.
  init() throws {
    guard let runtime = Self.pathOfRuntime() else {
      throw Failure(description: "this process has no Swift runtime of a toolchain")
    }
    // lib/swift/linux/libswiftCore.so
    let folders = runtime.split(separator: "/").dropLast(3)
    let path = "/" + folders.joined(separator: "/") + "/libIndexStore.so"
    guard let library = dlopen(path, RTLD_NOW | RTLD_LOCAL) else {
      throw Failure(description: "\(path) cannot be loaded: it comes with the Swift toolchain")
    }
    self.library = library
  }

  /// Where `libswiftCore.so` was loaded from.
  private static func pathOfRuntime() -> Substring? {
    // Line by line: the system gives the file no size by which it could be read at once.
    guard let maps = fopen("/proc/self/maps", "r") else { return nil }
    defer { fclose(maps) }
    var line: UnsafeMutablePointer<CChar>?
    var room = 0
    defer { free(line) }
    while getline(&line, &room, maps) > 0, let line {
      let text = String(cString: line).dropLast()
      if text.hasSuffix("/libswiftCore.so") { return text.firstIndex(of: "/").map { text[$0...] } }
    }
    return nil
  }

  private func function<Function>(_ name: String) throws -> Function {
    guard let address = dlsym(library, "indexstore_" + name) else {
      throw Failure(description: "the library of the index has no function \(name)")
    }
    return unsafeBitCast(address, to: Function.self)
  }

  static func string(_ text: Text) -> String {
    String(
      decoding: UnsafeRawBufferPointer(start: text.iov_base, count: text.iov_len), as: UTF8.self)
  }

  /// Calls `body` with each file that was compiled, and the name of what was recorded of it.
  func forEachRecord(
    ofStoreAt path: String, _ body: (_ file: String, _ name: String, Records) throws -> Void
  ) throws {
    let open: Open = try function("store_create")
    let dispose: Dispose = try function("store_dispose")
    var problem: Handle?
    guard let store = open(path, &problem) else {
      throw Failure(description: "\(path) is no index: a debug build writes one")
    }
    defer { dispose(store) }
    let records = try Records(self, store)
    for unit in try units(of: store) {
      try forEachDependency(of: unit, in: store) { file, name in try body(file, name, records) }
    }
  }

  private func units(of store: Handle) throws -> [String] {
    let apply: Units = try function("store_units_apply_f")
    let found = Box<Text> { _ in }
    _ = apply(store, 1, found.pointer) { context, name in
      Box<Text>.at(context)?.texts.append(IndexLibrary.string(name))
      return true
    }
    return found.texts
  }

  private func forEachDependency(
    of unit: String, in store: Handle, _ body: (_ file: String, _ name: String) throws -> Void
  ) throws {
    let open: OpenIn = try function("unit_reader_create")
    let dispose: Dispose = try function("unit_reader_dispose")
    let apply: Each = try function("unit_reader_dependencies_apply_f")
    let kind: @convention(c) (Handle) -> Int32 = try function("unit_dependency_get_kind")
    let file: @convention(c) (Handle) -> Text = try function("unit_dependency_get_filepath")
    let name: @convention(c) (Handle) -> Text = try function("unit_dependency_get_name")
    var problem: Handle?
    // Gone since: another build writes at the same time.
    guard let reader = open(store, unit, &problem) else { return }
    defer { dispose(reader) }
    var found: [(String, String)] = []
    Self.forEach(reader, apply) { dependency in
      guard kind(dependency) == Self.record else { return }
      found.append((Self.string(file(dependency)), Self.string(name(dependency))))
    }
    for (file, name) in found { try body(file, name) }
  }

  private static func forEach(_ handle: Handle, _ apply: Each, _ body: (Handle) -> Void) {
    withoutActuallyEscaping(body) { body in
      let box = Box<Handle>(body)
      _ = apply(handle, box.pointer) { context, item in
        if let item { Box<Handle>.at(context)?.body(item) }
        return true
      }
      withExtendedLifetime(box) {}
    }
  }

  /// What a C function gets for its context.
  private final class Box<Item> {
    let body: (Item) -> Void
    var texts: [String] = []

    init(_ body: @escaping (Item) -> Void) { self.body = body }

    var pointer: Handle { Unmanaged.passUnretained(self).toOpaque() }

    static func at(_ pointer: Handle?) -> Box? {
      pointer.map { Unmanaged<Box>.fromOpaque($0).takeUnretainedValue() }
    }
  }
}

extension IndexLibrary {
  /// A name in a file: declared there, used, or given to a protocol.
  struct Occurrence {
    let name: String
    /// Names the symbol among all.
    let symbol: String
    let line: Int
    let roles: UInt64
    /// Declared in an extension of a protocol.
    let isOfProtocol: Bool

    /// Bits of `roles`, as the library defines them.
    var isDefinition: Bool { roles & 1 << 1 != 0 }
    var isUse: Bool { roles & 1 << 2 != 0 }
    /// A type's conformance takes the symbol for a requirement, and it is declared elsewhere.
    var isFulfilment: Bool { roles & 1 << 8 != 0 && roles & 1 << 11 != 0 }
  }

  /// Reads what was recorded of single files.
  struct Records {
    private let store: Handle
    private let open: OpenIn
    private let dispose: Dispose
    private let apply: Each
    private let relations: Each
    private let symbol: @convention(c) (Handle) -> Handle
    private let roles: @convention(c) (Handle) -> UInt64
    private let position:
      @convention(c) (Handle, UnsafeMutablePointer<UInt32>, UnsafeMutablePointer<UInt32>) -> Void
    private let name: @convention(c) (Handle) -> Text
    private let usr: @convention(c) (Handle) -> Text
    private let subkind: @convention(c) (Handle) -> Int32
    private let parent: @convention(c) (Handle) -> Handle

    /// The kind of an extension of a protocol.
    private static let protocolExtension: Int32 = 1007

    fileprivate init(_ library: IndexLibrary, _ store: Handle) throws {
      self.store = store
      open = try library.function("record_reader_create")
      dispose = try library.function("record_reader_dispose")
      apply = try library.function("record_reader_occurrences_apply_f")
      relations = try library.function("occurrence_relations_apply_f")
      symbol = try library.function("occurrence_get_symbol")
      roles = try library.function("occurrence_get_roles")
      position = try library.function("occurrence_get_line_col")
      name = try library.function("symbol_get_name")
      usr = try library.function("symbol_get_usr")
      subkind = try library.function("symbol_get_subkind")
      parent = try library.function("symbol_relation_get_symbol")
    }

    /// Calls `body` with each name in a file, in no order.
    func forEach(of record: String, _ body: (Occurrence) -> Void) {
      var problem: Handle?
      guard let reader = open(store, record, &problem) else { return }
      defer { dispose(reader) }
      IndexLibrary.forEach(reader, apply) { occurrence in
        let symbol = symbol(occurrence)
        var (line, column): (UInt32, UInt32) = (0, 0)
        position(occurrence, &line, &column)
        var isOfProtocol = false
        IndexLibrary.forEach(occurrence, relations) { relation in
          if subkind(parent(relation)) == Self.protocolExtension { isOfProtocol = true }
        }
        body(
          Occurrence(
            name: IndexLibrary.string(name(symbol)), symbol: IndexLibrary.string(usr(symbol)),
            line: Int(line), roles: roles(occurrence), isOfProtocol: isOfProtocol))
      }
    }
  }
}
