"""Words that English writes with a capital wherever they stand, and words that it may."""

#: Peoples, nations, faiths and their adjectives. Plurals in -s are found by their singular.
PROPER = frozenset(
    """
    afghan africa african alaskan albanian algerian america american amish andorran anglican angolan
    appalachian arab arabian arabic argentine argentinian armenian ashkenazi asia asian assyrian
    australian austrian azerbaijani aztec bahamian bahraini balinese bangladeshi baptist barbadian
    basque belarusian belgian belizean bengali beninese bhutanese bolivian bosnian botswanan brahmin
    brazil brazilian britain british buddhist bulgarian burmese burundian californian calvinist
    cambodian cameroonian canada canadian caribbean catalan caucasian celtic chadian cherokee
    chicana chicano chilean chinese christian colombian confucian congolese coptic cossack croatian
    cuban cypriot czech dane danish dominican dutch ecuadorian egyptian emirati england english
    englishman englishwoman eritrean estonian ethiopian eurasian europe european fijian filipina
    filipino finn finnish flemish floridian french frenchman frenchwoman gabonese gambian georgian
    german ghanaian greek greenlandic guatemalan guinean guyanese haitian hasidic hawaiian hebrew
    hindu hispanic hmong honduran hungarian hutterite icelander icelandic igbo india indian
    indonesian inuit iranian iraqi irish irishman irishwoman islamic israeli israelite italian
    ivorian jain jamaican japanese javanese jehovah jew jewish jordanian kazakh kenyan khmer korean
    kosovan kurd kurdish kuwaiti kyrgyz lao laotian latina latino latinx latvian lebanese liberian
    libyan lithuanian lutheran luxembourgish macedonian malagasy malawian malaysian maldivian malian
    maltese maori maronite mauritanian mauritian mayan mennonite methodist mexican mexico moldovan
    mongolian montenegrin moravian mormon moroccan mozambican muslim māori namibian navajo nepalese
    nepali nicaraguan nigerian nigerien nordic norwegian ojibwe omani pakistani palestinian
    panamanian papuan paraguayan parsi pashtun pentecostal persian peruvian portuguese presbyterian
    protestant punjabi qatari quaker rastafarian roma romani romanian russian rwandan salvadoran
    samoan saudi scandinavian scientologist scot scotsman scottish senegalese sephardic serb serbian
    shia shiite sikh singaporean sinhalese slav slavic slovak slovakian slovenian somali spaniard
    spanish sudanese sufi sunni surinamese swede swedish syrian tahitian taiwanese tajik tamil
    tanzanian taoist texan thai tibetan togolese tongan trinidadian tunisian turk turkish turkmen
    ugandan ukrainian unitarian uruguayan uyghur uzbek venezuelan vietnamese welsh welshman
    welshwoman yemeni yiddish yoruba yugoslav zambian zimbabwean zionist zoroastrian zulu
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)

#: With a capital as a name, without one in another sense or by another habit: only a remark.
OFTEN_PROPER = frozenset(
    """
    catholic creole democrat gypsy latin northerner orthodox polish puritan quechua republican roman
    swiss tory whig
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)

#: May be written either way; neither is remarked on.
EITHER_WAY = frozenset(
    """
    aboriginal autistic black blind brown deaf deafblind first gen greens indigenous libertarian
    midwestern millennial nation nations native northern pacific south southern southerner western
    westerner white
    """.split()  # noqa: SIM905 - a list literal would be a word a line
)
