import Foundation
import TarnStore
import Testing

@testable import Tarn

/// Two spellings of the same letters, which are one to Swift's `String` and two to a file: as keys
/// of maps and of objects, and in what is asked for.
struct SpellingTests {
  private static let (one, two) = ("\u{e9}", "e\u{301}")
  private static let spellings = [two, one]

  class Album: Object {
    @Persisted(primaryKey: true) var title: String
    @Persisted(indexed: true) var artist: String
    @Persisted var counts: Map<String, Int>
    @Persisted var pages: Map<String, AlbumPage?>
    @Persisted var mixed: AnyRealmValue
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  class AlbumPage: EmbeddedObject {
    @Persisted var number: Int
    convenience init(_ number: Int) {
      self.init()
      self.number = number
    }
    override class func shouldIncludeInDefaultSchema() -> Bool { false }
  }

  private func open() throws -> Instance {
    let shelter = try Shelter()
    var configuration = shelter.configuration
    configuration.objectTypes = [Album.self, AlbumPage.self]
    return try Instance(configuration, shelter)
  }

  private func album(_ instance: Instance, _ title: String = "") throws -> Album {
    let album = Album()
    album.title = title
    try instance.write { instance.realm.add(album) }
    return album
  }

  private func checkSound(
    _ instance: Instance, _ location: SourceLocation = #_sourceLocation
  ) throws {
    let reader = try SnapshotReader(instance.realm.core.store.newestSnapshot())
    #expect(SequenceCheck(reader).problems == [], sourceLocation: location)
    #expect(OwnerCheck(reader).problems == [], sourceLocation: location)
    #expect(TreeCheck(reader).problems == [], sourceLocation: location)
    try instance.realm.checkIndexes()
  }

  @Test func theyAreTwoPrimaryKeys() throws {
    let instance = try open()
    for (number, title) in Self.spellings.enumerated() {
      let album = try album(instance, title)
      try instance.write { album.counts["n"] = number }
    }
    for (number, title) in Self.spellings.enumerated() {
      let found = instance.realm.object(ofType: Album.self, forPrimaryKey: title)
      #expect(found?.counts["n"] == number)
      try instance.write {
        instance.realm.create(
          Album.self, value: ["title": title, "artist": title], update: .modified)
      }
    }
    #expect(instance.realm.objects(Album.self).count == 2)
    try checkSound(instance)
  }

  @Test func theyAreTwoKeysOfAMap() throws {
    let instance = try open()
    let managed = try album(instance)
    for album in [managed, Album()] {
      for (number, key) in Self.spellings.enumerated() {
        try instance.write { album.counts[key] = number }
      }
      #expect(album.counts.keys.map { Array($0.utf8) } == Self.spellings.map { Array($0.utf8) })
      #expect(album.counts.values == [0, 1])
      try instance.write { album.counts.removeObject(for: Self.two) }
      #expect(album.counts[Self.one] == 1)
      #expect(album.counts[Self.two] == nil)
    }
    try checkSound(instance)
  }

  @Test func mapsOfTwoSpellingsAreDifferent() throws {
    let instance = try open()
    let managed = try album(instance)
    try instance.write { managed.counts[Self.one] = 1 }
    let (same, other) = (Map<String, Int>(), Map<String, Int>())
    same[Self.one] = 1
    other[Self.two] = 1
    #expect(managed.counts == same)
    #expect(managed.counts != other)
    #expect(same != other)
  }

  @Test func anUpdateLeavesTheKeysThatItGives() throws {
    let instance = try open()
    let album = try album(instance)
    func put(_ keys: [String]) throws -> Set<String> {
      let other = Album()
      for (number, key) in keys.enumerated() {
        other.counts[key] = 7
        other.pages[key] = AlbumPage(number)
      }
      var told: Set<String> = []
      let token = album.observe { change in
        if case .change(_, let properties) = change { told = Set(properties.map(\.name)) }
      }
      instance.pump()
      try instance.write { instance.realm.add(other, update: .modified) }
      instance.pump()
      token.invalidate()
      let bytes = keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
      #expect(album.counts.keys.map { Array($0.utf8) } == bytes)
      #expect(album.pages.keys.map { Array($0.utf8) } == bytes)
      for (number, key) in keys.enumerated() {
        #expect(album.pages[key]??.number == number, "\(keys)")
      }
      try checkSound(instance)
      return told
    }
    let both: Set = ["counts", "pages"]
    #expect(try put([Self.one]) == both)
    #expect(try put([Self.two]) == both)
    #expect(try put([Self.two, Self.one]) == both)
    #expect(try put([Self.two, Self.one]).isEmpty)
    #expect(try put([Self.one]) == both)
  }

  @Test func aDictionaryThatFollowsAMapHasTheSpellingThatComesLast() throws {
    let instance = try open()
    let album = try album(instance)
    try instance.write { album.counts[Self.two] = 1 }
    try instance.write { album.counts[Self.one] = 2 }
    var copy: [String: Int] = [:]
    func check(_ expected: [String: Int]) {
      instance.pump()
      #expect(copy == expected)
      #expect(
        copy.keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) }
          == expected.keys.map { Array($0.utf8) }.sorted { $0.lexicographicallyPrecedes($1) })
    }
    let token = album.counts.observeChanges { $0.apply(to: &copy) }
    check([Self.one: 2])
    try instance.write { album.counts[Self.two] = 3 }
    check([Self.one: 2])
    try instance.write { album.counts["x"] = 9 }
    check([Self.one: 2, "x": 9])
    try instance.write { album.counts.removeObject(for: Self.one) }
    check([Self.two: 3, "x": 9])
    try instance.write { album.counts[Self.one] = 4 }
    check([Self.one: 4, "x": 9])
    try instance.write { album.counts.removeAll() }
    check([:])
    token.invalidate()
  }

  @Test func resultsOfTwoSpellingsAreTwo() throws {
    let instance = try open()
    for title in Self.spellings {
      let album = try album(instance, title)
      try instance.write {
        album.artist = title
        album.counts[title] = 1
        album.mixed = .fromDictionary([title: 1])
      }
    }
    let albums = instance.realm.objects(Album.self)
    // Both are kept, so that the second could be taken for the first.
    for questions in [
      Self.spellings.map { text in albums.where { $0.artist == text } },
      Self.spellings.map { albums.filter("artist == %@", $0) },
      Self.spellings.map { albums.filter("artist IN %@", [$0]) },
      Self.spellings.map { text in albums.where { $0.counts[text] == 1 } },
      Self.spellings.map { text in albums.where { $0.mixed[text] == .int(1) } },
      Self.spellings.map { text in albums.where { $0.counts.keys.contains(text) } },
    ] {
      #expect(questions[0] != questions[1])
      for (results, title) in zip(questions, Self.spellings) {
        #expect(results.map { Array($0.title.utf8) } == [Array(title.utf8)])
      }
    }
  }

  @Test func aKeyMayBeginWithAMark() throws {
    let instance = try open()
    let album = try album(instance)
    let mark = "\u{301}x"
    try instance.write {
      album.counts[mark] = 1
      album.mixed = .fromDictionary([mark: 1])
    }
    let albums = instance.realm.objects(Album.self)
    #expect(albums.where { $0.counts[mark] == 1 }.count == 1)
    #expect(albums.where { $0.mixed[mark] == .int(1) }.count == 1)
  }

  @Test func aMapWithBothIsNotEncodedWithOne() throws {
    let map = Map<String, Int>()
    map[Self.one] = 1
    #expect(try JSONEncoder().encode(map) == Data("{\"\u{e9}\":1}".utf8))
    map[Self.two] = 2
    let error = #expect(throws: EncodingError.self) { try JSONEncoder().encode(map) }
    #expect("\(error!)".contains("two spellings"))
  }

  @Test func valuesOfASetByNameAreWithoutRepeatsOnly() throws {
    let set = MutableSet<AnyRealmValue>()
    set.insert(objectsIn: [
      .string(Self.one), .string(Self.two), .double(1), .int(1), .double(.nan),
    ])
    let values = try #require(set.value(forKey: "self") as [Any?]?)
    #expect(values.count == 4)
  }

  @Test func identitiesAreTheSameToTheBit() {
    func identity(_ value: AnyRealmValue) -> ElementIdentity { ElementIdentity(of: value) }
    #expect(ElementIdentity(of: Self.one) != ElementIdentity(of: Self.two))
    #expect(ElementIdentity(of: 0.0) != ElementIdentity(of: -0.0))
    #expect(ElementIdentity(of: Double.nan) == ElementIdentity(of: Double.nan))
    #expect(identity(.int(1)) != identity(.double(1)))
    #expect(identity(.string(Self.one)) != identity(.string(Self.two)))
  }
}
