import Foundation
import TestSupport

@testable import Tarn

/// Lists, sets and maps of everything that an element can be.
class Tray: Object {
  @Persisted(primaryKey: true) var id: Int

  @Persisted var flags: List<Bool>
  @Persisted var flagSet: MutableSet<Bool>
  @Persisted var flagMap: Map<String, Bool>
  @Persisted var bytes: List<Int8>
  @Persisted var byteSet: MutableSet<Int8>
  @Persisted var byteMap: Map<String, Int8>
  @Persisted var floats: List<Float>
  @Persisted var floatSet: MutableSet<Float>
  @Persisted var floatMap: Map<String, Float>
  @Persisted var doubles: List<Double?>
  @Persisted var doubleSet: MutableSet<Double?>
  @Persisted var doubleMap: Map<String, Double?>
  @Persisted var decimals: List<Decimal128>
  @Persisted var decimalSet: MutableSet<Decimal128>
  @Persisted var decimalMap: Map<String, Decimal128>
  @Persisted var texts: List<String>
  @Persisted var textSet: MutableSet<String>
  @Persisted var textMap: Map<String, String>
  @Persisted var blobs: List<Data?>
  @Persisted var blobSet: MutableSet<Data?>
  @Persisted var blobMap: Map<String, Data?>
  @Persisted var dates: List<Date>
  @Persisted var dateSet: MutableSet<Date>
  @Persisted var dateMap: Map<String, Date>
  @Persisted var uuids: List<UUID>
  @Persisted var uuidSet: MutableSet<UUID>
  @Persisted var uuidMap: Map<String, UUID>
  @Persisted var ids: List<ObjectId?>
  @Persisted var idSet: MutableSet<ObjectId?>
  @Persisted var idMap: Map<String, ObjectId?>
  @Persisted var moods: List<CatMood>
  @Persisted var moodSet: MutableSet<CatMood>
  @Persisted var moodMap: Map<String, CatMood>
  @Persisted var anys: List<AnyRealmValue>
  @Persisted var anySet: MutableSet<AnyRealmValue>
  @Persisted var anyMap: Map<String, AnyRealmValue>
  @Persisted var grains: List<Grain>
  @Persisted var grainSet: MutableSet<Grain>
  @Persisted var grainMap: Map<String, Grain?>
  @Persisted var chips: List<Chip>
  @Persisted var chipMap: Map<String, Chip?>
}

class Grain: Object {
  @Persisted(primaryKey: true) var id: Int
  @Persisted var weight = 0
}

class Chip: EmbeddedObject {
  @Persisted var weight = 0
}

extension Shelter {
  /// An instance of a file with one tray and four grains.
  func openTrays() throws -> Instance {
    var configuration = configuration
    configuration.fileURL = URL(fileURLWithPath: folder + "/trays.realm")
    configuration.objectTypes = [Tray.self, Grain.self, Chip.self]
    let instance = try Instance(configuration, self)
    if instance.realm.objects(Tray.self).isEmpty {
      try instance.write {
        instance.realm.create(Tray.self, value: ["id": 1])
        for id in 0..<4 { instance.realm.create(Grain.self, value: ["id": id]) }
      }
    }
    return instance
  }
}

/// An observation of a collection of one kind of element.
struct ElementWatch {
  let name: String
  /// What did not fit in the calls.
  let problems: () -> [String]
  /// Whether a copy that follows the calls holds what the collection holds.
  let isUpToDate: () -> Bool
  let calls: () -> Int
  let end: () -> Void

  init<C: RealmCollection>(_ name: String, _ collection: C, _ text: @escaping (C.Element) -> String)
  {
    let recorder = SequenceRecorder(collection, text)
    self.name = name
    problems = { recorder.problems }
    isUpToDate = {
      recorder.mirror == (collection.isInvalidated ? [] : collection.map(text))
    }
    calls = { recorder.calls.count }
    end = { recorder.token?.invalidate() }
  }

  init<Value>(_ name: String, _ map: Map<String, Value>, _ text: @escaping (Value) -> String) {
    let recorder = MapRecorder(map, text)
    self.name = name
    problems = { recorder.problems }
    isUpToDate = {
      let entries = map.isInvalidated ? [] : map.map { ($0.key, text($0.value)) }
      return recorder.mirror == Dictionary(uniqueKeysWithValues: entries)
    }
    calls = { recorder.calls.count }
    end = { recorder.token?.invalidate() }
  }

  /// Sections of elements with texts of similar lengths.
  init<T>(sectionsOf name: String, _ results: Results<T>, _ text: @escaping (T) -> String) {
    let sections = SectionedResults<Int, T>(
      results, SectionRule { text($0).utf8.count % 3 })
    let recorder = SectionRecorder(sections, text)
    self.name = "sections of \(name)"
    problems = { recorder.problems }
    isUpToDate = { recorder.mirror.map(\.rows) == sections.map { $0.map(text) } }
    calls = { recorder.calls.count }
    end = { recorder.token?.invalidate() }
  }
}

/// One kind of element: how its collections are changed and observed.
struct ElementKind {
  let name: String
  let watch: (Tray) -> [ElementWatch]
  let change: (Tray, inout SeededRandom) -> Void

  /// - Parameters:
  ///   - sorted: the list's elements in order, for kinds that have one.
  ///   - value: one of a few elements.
  private init<T, M>(
    _ name: String, _ list: KeyPath<Tray, List<T>>, _ set: KeyPath<Tray, MutableSet<T>>?,
    _ map: KeyPath<Tray, Map<String, M>>, sorted: @escaping (List<T>) -> Results<T>?,
    text: @escaping (M) -> String, listed: @escaping (T) -> M,
    value: @escaping (Tray, inout SeededRandom) -> T
  ) {
    self.name = name
    watch = { tray in
      let (list, map) = (tray[keyPath: list], tray[keyPath: map])
      let shown: (T) -> String = { text(listed($0)) }
      var all = [
        ElementWatch("list", list, shown), ElementWatch("window", list.window(1..<4), shown),
        ElementWatch("window of a window", list.offset(1).window(1...2), shown),
        ElementWatch(sectionsOf: "a list's window", list.limit(4), shown),
        ElementWatch("map", map, text),
      ]
      if let sorted = sorted(list) {
        all += [
          ElementWatch("sorted", sorted, shown),
          ElementWatch("sorted window", sorted.offset(1).limit(3), shown),
          ElementWatch(sectionsOf: "sorted ones", sorted, shown),
        ]
      }
      if let set = set.map({ tray[keyPath: $0] }) {
        all += [
          ElementWatch("set", set, shown), ElementWatch("set's window", set.limit(2), shown),
          ElementWatch(sectionsOf: "a set", set.offset(0), shown),
        ]
      }
      return all
    }
    change = { tray, numbers in
      let made = value(tray, &numbers)
      let list = tray[keyPath: list]
      let position = numbers.below(list.count)
      switch numbers.below(10) {
      case 0, 1: list.insert(made, at: numbers.below(list.count + 1))
      case 2 where !list.isEmpty: list[position] = made
      case 3 where !list.isEmpty: list.remove(at: position)
      case 4 where list.count > 1: list.move(from: position, to: numbers.below(list.count))
      case 5, 6:
        guard let set = set.map({ tray[keyPath: $0] }) else { return list.append(made) }
        if set.contains(made) { set.remove(made) } else { set.insert(made) }
      default:
        let (map, key) = (tray[keyPath: map], "k\(numbers.below(4))")
        if map[key] != nil, numbers.chance(40) {
          map.removeObject(for: key)
        } else {
          map.updateValue(listed(value(tray, &numbers)), forKey: key)
        }
      }
    }
  }

  /// Plain values.
  private init<T: _SortableElement & _Persistable>(
    _ name: String, _ list: KeyPath<Tray, List<T>>, _ set: KeyPath<Tray, MutableSet<T>>,
    _ map: KeyPath<Tray, Map<String, T>>, _ values: [T]
  ) {
    self.init(
      name, list, set, map, sorted: { $0.sorted() }, text: { "\($0._box().value)" },
      listed: { $0 }, value: { _, numbers in numbers.pick(values) })
  }

  private static func grain(_ tray: Tray, _ numbers: inout SeededRandom) -> Grain {
    tray.realm!.objects(Grain.self)[numbers.below(4)]
  }

  private static func any(_ tray: Tray, _ numbers: inout SeededRandom) -> AnyRealmValue {
    let plain: [AnyRealmValue] = [.none, .int(1), .double(1), .bool(true), .string("1"), .int(7)]
    return numbers.chance(30) ? .object(grain(tray, &numbers)) : numbers.pick(plain)
  }

  private static func text(_ any: AnyRealmValue) -> String {
    any.object(Grain.self).map { text($0) } ?? "\(any)"
  }

  private static func text(_ grain: Grain?) -> String {
    grain.map { "\($0.id) weighs \($0.weight)" } ?? "nil"
  }

  static var all: [ElementKind] {
    let uuids = (1...4).map { UUID(uuidString: "00000000-0000-0000-0000-00000000000\($0)")! }
    return [
      ElementKind("Bool", \.flags, \.flagSet, \.flagMap, [false, true]),
      ElementKind("Int8", \.bytes, \.byteSet, \.byteMap, [-3, 0, 1, 100]),
      ElementKind("Float", \.floats, \.floatSet, \.floatMap, [-1.5, 0, 2, .nan]),
      ElementKind("Double?", \.doubles, \.doubleSet, \.doubleMap, [nil, -1.5, 0, 2, .infinity]),
      ElementKind(
        "Decimal128", \.decimals, \.decimalSet, \.decimalMap, ["1", "1.00", "-7", "NaN"]),
      ElementKind("String", \.texts, \.textSet, \.textMap, ["", "a", "é", "e\u{301}", "zz"]),
      ElementKind(
        "Data?", \.blobs, \.blobSet, \.blobMap,
        [nil, Data(), Data([1]), Data(repeating: 7, count: 99)]),
      ElementKind(
        "Date", \.dates, \.dateSet, \.dateMap,
        (0..<4).map { Date(timeIntervalSince1970: Double($0) / 4) }),
      ElementKind("UUID", \.uuids, \.uuidSet, \.uuidMap, uuids),
      ElementKind(
        "ObjectId?", \.ids, \.idSet, \.idMap,
        [nil, ObjectId(), ObjectId("507f1f77bcf86cd799439011")]),
      ElementKind("enum", \.moods, \.moodSet, \.moodMap, [.sleepy, .wild]),
      ElementKind(
        "AnyRealmValue", \.anys, \.anySet, \.anyMap, sorted: { $0.sorted() }, text: text,
        listed: { $0 }, value: any),
      ElementKind(
        "object", \.grains, \.grainSet, \.grainMap, sorted: { $0.sorted(by: \.weight) },
        text: { text($0) }, listed: { $0 }, value: grain),
      ElementKind(
        "embedded", \.chips, nil, \.chipMap, sorted: { $0.sorted(by: \.weight) },
        text: { "\($0?.weight ?? -1)" }, listed: { $0 },
        value: { _, numbers in Chip(value: ["weight": numbers.below(9)]) }),
    ]
  }
}
